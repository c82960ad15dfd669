package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// shells lists the shells that have completion. Their scripts are made from the table of
// commands, so that they offer exactly the program's commands and flags.
var shells = []struct {
	name  string
	write func(w io.Writer, list []completed) error
}{
	{"bash", completeBash},
	{"zsh", completeZsh},
	{"fish", completeFish},
}

// completed is a command as completion sees it.
type completed struct {
	command
	words  []completedWord
	flags  []completedWord
	offers map[string]offers // by flag
}

// completedWord is a flag, or an argument from a fixed set, with an explanation.
type completedWord struct{ name, does string }

func setupCompletion(*flagSet) action { return cmdCompletion }

func cmdCompletion(e *env, args []string) error {
	if len(args) > 1 && args[0] == "names" {
		return offerFrom(e, args[1], args[2:])
	}
	for _, s := range shells {
		if len(args) == 1 && args[0] == s.name {
			return s.write(e.stdout, completions())
		}
	}
	if len(args) == 0 {
		return incomplete("completion", "no shell", "bash, zsh or fish", "completion bash")
	}
	return usageError{fmt.Errorf("completion: found %q, expected one of bash, zsh and fish", strings.Join(args, " "))}
}

func completions() (list []completed) {
	for _, c := range commands() {
		fs := newFlagSet(c.name)
		c.setup(fs)
		done := completed{command: c, offers: fs.offers}
		for _, name := range fs.names() {
			done.flags = append(done.flags, completedWord{"-" + name,
				strings.ReplaceAll(fs.Lookup(name).Usage, "`", "")})
		}
		if fs.goFlags != nil {
			for _, name := range slices.Sorted(slices.Values(slices.Concat(fs.goFlags.bools, fs.goFlags.values))) {
				if fs.Lookup(name) == nil {
					done.flags = append(done.flags, completedWord{"-" + name, "see go help " + fs.goFlags.topic(name)})
				}
			}
		}
		done.flags = append(done.flags, completedWord{"-help", "explain the command"})
		switch c.name {
		case "help":
			for _, c := range commands() {
				done.words = append(done.words, completedWord{c.name, c.summary})
			}
		case "doe":
			done.words = []completedWord{{"plan", "print a plan"}, {"fit", "estimate effects"}}
		case "completion":
			for _, s := range shells {
				done.words = append(done.words, completedWord{s.name, "for " + s.name})
			}
		}
		list = append(list, done)
	}
	return list
}

func wordsOf(list []completedWord) string {
	var names []string
	for _, w := range list {
		names = append(names, w.name)
	}
	return strings.Join(names, " ")
}

// completeBash writes a function for bash. If the function offers nothing, because the
// argument is a file, bash offers files.
func completeBash(w io.Writer, list []completed) error {
	var cases, values strings.Builder
	for _, c := range list {
		fmt.Fprintf(&cases, "\t%s) flags=%q words=%q ;;\n", c.name, wordsOf(c.flags), wordsOf(c.words))
		c.offered(func(flag string, o offers) {
			fmt.Fprintf(&values, "\t\"%s -%s\") words=%q names=%q ;;\n", c.name, flag,
				strings.Join(o.words, " "), o.names)
		})
	}
	_, err := fmt.Fprintf(w, `# bash completion of qinst
_qinst() {
	local cur=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD-1]} command= flags= words= names= i
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-*) ;;
		*) command=${COMP_WORDS[i]}; break ;;
		esac
	done
	case $command in
	"") words=%q ;;
%s	esac
	case $cur in
	-*) words=$flags ;;
	=) cur= ;; # -flag=value is three words
	*) [[ $flag != = ]] || flag=${COMP_WORDS[COMP_CWORD-2]} ;;
	esac
	case "$command $flag" in
%s	esac
	COMPREPLY=($(compgen -W "$words" -- "$cur"))
	[[ $names ]] || return
	while read -r i; do
		[[ $i != "${cur//\\/}"* ]] || COMPREPLY+=("$(printf %%q "$i")")
	done < <("${COMP_WORDS[0]}" completion names $names -- "${COMP_WORDS[@]:1}" 2>/dev/null)
}
complete -o default -F _qinst qinst
`, commandWords(list), cases.String(), values.String())
	return err
}

func commandWords(list []completed) string {
	var names []string
	for _, c := range list {
		names = append(names, c.name)
	}
	return strings.Join(names, " ")
}

// completeZsh writes a function for zsh, with an explanation of each word.
func completeZsh(w io.Writer, list []completed) error {
	var cases, values strings.Builder
	for _, c := range list {
		c.offered(func(flag string, o offers) {
			if o.names != "" {
				fmt.Fprintf(&values, "\t'%s -%s') values=(${(f)\"$($words[1] completion names %s -- $words 2>/dev/null)\"}) ;;\n",
					c.name, flag, o.names)
				return
			}
			fmt.Fprintf(&values, "\t'%s -%s') values=(%s) ;;\n", c.name, flag, strings.Join(o.words, " "))
		})
		fmt.Fprintf(&cases, "\t%s)\n\t\tflags=(%s)\n\t\twords_=(%s) ;;\n", c.name, described(c.flags),
			described(c.words))
	}
	var commands []completedWord
	for _, c := range list {
		commands = append(commands, completedWord{c.name, c.summary})
	}
	_, err := fmt.Fprintf(w, `#compdef qinst
_qinst() {
	local -a commands flags words_ values
	commands=(%s)
	if (( CURRENT == 2 )); then
		_describe command commands
		return
	fi
	case $words[2] in
%s	esac
	local flag=$words[CURRENT-1]
	if [[ $PREFIX == -*=* ]]; then
		flag=${PREFIX%%%%=*}
		compset -P '*='
	fi
	case "$words[2] $flag" in
%s	esac
	if (( $#values )); then
		compadd -a values
	elif [[ $PREFIX == -* ]]; then
		_describe -o flag flags
	elif (( $#words_ )); then
		_describe word words_
	else
		_files
	fi
}
if [[ $funcstack[1] == _qinst ]]; then
	_qinst
else
	compdef _qinst qinst
fi
`, described(commands), cases.String(), values.String())
	return err
}

// described returns words in the form of zsh's _describe. A colon ends the word, its
// explanation follows.
func described(list []completedWord) string {
	var b strings.Builder
	for _, w := range list {
		b.WriteString(" " + quoted(strings.ReplaceAll(w.name, ":", `\:`)+":"+w.does))
	}
	return strings.TrimPrefix(b.String(), " ")
}

// quoted returns a word in single quotes, as zsh reads it.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// completeFish writes commands for fish, one for each word.
func completeFish(w io.Writer, list []completed) error {
	var b strings.Builder
	b.WriteString("# fish completion of qinst\n")
	for _, c := range list {
		fmt.Fprintf(&b, "complete -c qinst -n __fish_use_subcommand -f -a %s -d %s\n", c.name, fishQuoted(c.summary))
	}
	for _, c := range list {
		in := "'__fish_seen_subcommand_from " + c.name + "'"
		for _, f := range c.flags {
			value := ""
			switch o := c.offers[strings.TrimPrefix(f.name, "-")]; {
			case o.names != "":
				value = " -x -a '(qinst completion names " + o.names + " -- (commandline -o) 2>/dev/null)'"
			case o.words != nil:
				value = " -x -a " + fishQuoted(strings.Join(o.words, " "))
			}
			fmt.Fprintf(&b, "complete -c qinst -n %s -o %s -d %s%s\n", in, strings.TrimPrefix(f.name, "-"),
				fishQuoted(f.does), value)
		}
		for _, word := range c.words {
			fmt.Fprintf(&b, "complete -c qinst -n %s -f -a %s -d %s\n", in, word.name, fishQuoted(word.does))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// fishQuoted returns a word in single quotes. Fish reads two escapes between them.
func fishQuoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
