# The tokenizer's generated tables, the ready vocabularies, and `make vocab`. Included by
# the Makefile, which sets BUILD, CC, CPPFLAGS and CFLAGS. next: gen/unicode.c, gen/vocab.mjs

TOKEN_H := $(BUILD)/gen/token/unicode.h $(BUILD)/gen/token/punct.h
TEXT_H := $(BUILD)/gen/text/nfc_table.h
GEN_HEADERS += $(TOKEN_H) $(TEXT_H)

# Built for and run on this machine, without the build's sanitizers.
GENERATE = $(CC) -std=c11 -O1 $(shell pkg-config --cflags libutf8proc) $(CPPFLAGS) -o $@ $< \
  $(LDFLAGS) $(shell pkg-config --libs libutf8proc)

$(TOKEN_H:.h=): $(BUILD)/gen/token/%: core/token/gen/%.c
	@mkdir -p $(@D)
	$(Q)$(GENERATE)

$(TEXT_H:.h=): $(BUILD)/gen/text/%: core/text/gen/%.c
	@mkdir -p $(@D)
	$(Q)$(GENERATE)

$(TOKEN_H) $(TEXT_H): %.h: %
	$(Q)$< > $@.tmp && mv $@.tmp $@

# Beside the compact vocabularies, their ready files (image.h). The folder was once a link to
# core/token/data: nothing is written through it.
VOCABULARIES := $(BUILD)/share/neap/vocabularies
COMPACT := $(wildcard core/token/data/*)
READY := $(patsubst core/token/data/%.neapvocab,$(VOCABULARIES)/%.neapready,\
           $(filter %.neapvocab,$(COMPACT)))
all: $(READY) $(COMPACT:core/token/data/%=$(VOCABULARIES)/%)

$(VOCABULARIES)/.made:
	@mkdir -p $(dir $(@D)) && rm -f $(@D) 2>/dev/null; mkdir -p $(@D) && touch $@

$(VOCABULARIES)/%: core/token/data/% | $(VOCABULARIES)/.made
	$(Q)cp $< $@

$(BUILD)/gen/token/ready: core/token/gen/ready.c $(STATIC) $(STAMP)
	$(Q)$(COMPILE) -o $@ $< $(STATIC) $(LDFLAGS) $(DEP_LIBS)

$(VOCABULARIES)/%.neapready: core/token/data/%.neapvocab $(BUILD)/gen/token/ready \
                             | $(VOCABULARIES)/.made
	$(call say,READY,$@)
	$(Q)$(BUILD)/gen/token/ready $< $@.tmp && mv $@.tmp $@

# The vocabularies are in the repository; this makes them again from where they came from.
# The package is checked against this sum (base 16 of the registry's sha512 integrity).
VOCAB_PACKAGE := tiktoken-1.0.22
VOCAB_SHA512 := 3cabf2d6b545d5189b7c5dc99570523f426b730daeab7c977607045ed293627d$\
d027f7014411c39eb2798c7932f8c10d67a0c83f0354196a64571fbb8e80a934
VOCAB_DIR := $(BUILD)/vocab

.PHONY: vocab
vocab:                        ## makes the vocabulary files again from npm tiktoken
	@mkdir -p $(VOCAB_DIR)
	cd $(VOCAB_DIR) && npm pack --silent $(subst -,@,$(VOCAB_PACKAGE)) > /dev/null
	echo '$(VOCAB_SHA512)  $(VOCAB_DIR)/$(VOCAB_PACKAGE).tgz' | sha512sum -c --quiet
	tar -xzf $(VOCAB_DIR)/$(VOCAB_PACKAGE).tgz -C $(VOCAB_DIR)
	node core/token/gen/vocab.mjs $(VOCAB_DIR)/package core/token/data
