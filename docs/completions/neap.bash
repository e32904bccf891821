# Made by `make docs` from the table of options.
_neap_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }
_neap_none() { compopt +o default +o bashdefault 2>/dev/null; }
_neap_files() { :; }
_neap_folders() { mapfile -t COMPREPLY < <(compgen -d -- "$cur"); }
_neap_formats() { _neap_words 'anthropic gemini openai responses text'; }
_neap_encodings() { _neap_words "$(neap encodings 2>/dev/null | cut -d' ' -f1)"; }
_neap_forms() { _neap_words "$(neap import --list 2>/dev/null | cut -d' ' -f1)"; }
_neap_policies() {
  mapfile -t COMPREPLY < <(
    compgen -W "$(ls "$(neap doctor 2>/dev/null | sed -n 's/^policies .* in //p')" 2>/dev/null | sed -n 's/\.lua$//p')" -- "$cur"
    compgen -f -X '!*.lua' -- "$cur"
    compgen -d -S / -- "$cur"
  )
}

_neap() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words= kind=none
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    _neap_words 'count encode decode encodings vocab import sessions replay compare tune watch show probe diagnose explain diff new check trust recall session state store artifact doctor help --help --version'
    return
  fi
  case $prev in
    -e|--encoding) _neap_encodings; return ;;
    --body|--html|--answers|--cases|--store) _neap_files; return ;;
    --requests) _neap_folders; return ;;
    -f|--format) _neap_formats; return ;;
    --from) _neap_forms; return ;;
    --name|--pattern|--synthetic|--steps|--as|--session|-o|--option|-w|--window|-r|--reserve|-m|--model|--prices|--think|--cache|--sweep|-j|--jobs|--shard|--tries|--rounds|--turn|-k|--hits|--tenant|--events|--who|--reason|--source|--if-version|--lines|--head|--tail|--ends|--match|--context|--rows|--section|--about|--part|--tokens|--ttl|--tool|--query|--path|--kind) _neap_none; return ;;
    --shadow|-p|--policy) _neap_policies; return ;;
  esac
  case ${COMP_WORDS[1]} in
    help) _neap_words 'count encode decode encodings vocab import sessions replay compare tune watch show probe diagnose explain diff new check trust recall session state store artifact doctor'; return ;;
    count) words='-e --encoding --special --json -h --help'; kind=files ;;
    encode) words='-e --encoding --special --binary -h --help'; kind=files ;;
    decode) words='-e --encoding --binary -h --help'; kind=files ;;
    encodings) words='--json -h --help'; kind=none ;;
    vocab) words='--name --pattern --json -h --help'; kind=files ;;
    import) words='--list --table --join --synthetic --steps --from --as --branches --session --lenient --json -h --help'; kind=files ;;
    sessions) words='--all --tokens --json -h --help'; kind=none ;;
    replay) words='--shadow --body --requests --from --as --branches --lenient --json -p --policy -o --option -w --window -r --reserve -f --format -e --encoding -m --model --prices --think --cache -h --help'; kind=files ;;
    compare) words='-p --policy -o --option --sweep -w --window -r --reserve -f --format -e --encoding -m --model --prices --think --cache -j --jobs --shard --merge --html --details --from --as --branches --lenient --json -h --help'; kind=files ;;
    tune) words='-p --policy --sweep --tries -w --window -r --reserve -f --format -e --encoding -m --model --prices --think --cache -j --jobs --shard --from --as --branches --lenient --json -h --help'; kind=files ;;
    watch) words='--body --rounds --from --as --branches --lenient --json -p --policy -o --option -w --window -r --reserve -f --format -e --encoding -m --model --prices --think --cache -h --help'; kind=files ;;
    show) words='--turn --raw --body --session --from --as --branches --lenient --json -p --policy -o --option -w --window -r --reserve -f --format -e --encoding -m --model --prices --think --cache -h --help'; kind=files ;;
    probe) words='--turn --answers --session --from --as --branches --lenient --json -p --policy -o --option -w --window -r --reserve -f --format -e --encoding -m --model --prices --think --cache -h --help'; kind=files ;;
    diagnose) words='--budget --from --as --branches --lenient --json -p --policy -o --option -w --window -r --reserve -f --format -e --encoding -m --model --prices --think --cache -h --help'; kind=files ;;
    explain) words='--session --from --as --branches --lenient --json -p --policy -o --option -w --window -r --reserve -f --format -e --encoding -m --model --prices --think --cache -h --help'; kind=files ;;
    diff) words='-p --policy --turn -o --option -w --window -r --reserve -f --format -e --encoding -m --model --prices --think --cache --session --from --as --branches --lenient --json -h --help'; kind=files ;;
    new) words='-h --help'; kind=none ;;
    check) words='--cases --json -h --help'; kind=policies ;;
    trust) words='--list --remove --json -h --help'; kind=files ;;
    recall) words='--session -k --hits --store --tenant --json -h --help'; kind=files ;;
    session) words='--turn --events --name --yes --store --tenant --json -h --help'; kind=files ;;
    state) words='--who --reason --source --if-version --store --tenant --json -h --help'; kind=files ;;
    store) words='--session --store --tenant --json -h --help'; kind=files ;;
    artifact) words='--session --lines --head --tail --ends --match --context --errors --rows --section --outline --about --part --tokens -e --encoding --ttl --tool --query --path --kind --store --tenant --json -h --help'; kind=files ;;
    doctor) words='--json -h --help'; kind=none ;;
  esac
  case $cur in
    -*) _neap_words "$words" ;;
    *) "_neap_$kind" ;;
  esac
}
complete -o default -o bashdefault -F _neap neap
