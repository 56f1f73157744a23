package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/server"
)

const callLong = `Call one tool in-process and print what a model would see.

Arguments are key=value pairs, or one JSON object. Values are text, but for the
numbers offset, length and timeoutMs; write key:=JSON for any other kind, as in
args:='["--top","3"]'. The exit code is 1 where the tool reports an
error. On a terminal, control characters are shown as \u001b.`

func newCallCommand(flags *settings) *cobra.Command {
	var roots []string
	var structured bool
	command := &cobra.Command{
		Use:   "call [--root DIR...] TOOL [key=value... | JSON]",
		Short: "Call a tool and print what a model would see",
		Long:  callLong,
		Example: `  skills-mcp call findSkills query="spreadsheet"
  skills-mcp call activate name=csv-profile
  skills-mcp call --sandbox=unsafe-host exec '{"name":"csv-profile","script":"scripts/profile_csv.py","args":["--sample"]}'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{fmt.Errorf("call needs the name of a tool")}
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			arguments, err := callArguments(args[1:])
			if err != nil {
				return usageError{err}
			}
			return call(command, flags, roots, args[0], arguments, structured)
		},
	}
	command.Flags().SortFlags = false
	command.Flags().StringArrayVar(&roots, "root", nil, "a `ROOT`, as in 'skills-mcp --help' (repeatable); the default folders if absent")
	command.Flags().BoolVar(&structured, "structured", false, "print the structured content as JSON, where the tool gives it")
	return command
}

func call(command *cobra.Command, flags *settings, roots []string, tool string, arguments json.RawMessage, structured bool) error {
	ctx := command.Context()
	if !command.Flags().Changed("log-level") {
		flags.logLevel = "error" // the answer is what was asked for
	}
	runtime, err := flags.open(ctx, command.ErrOrStderr(), roots)
	if err != nil {
		return err
	}
	defer runtime.close()
	if names := runtime.server.ToolNames(); !slices.Contains(names, tool) {
		return usageError{fmt.Errorf("there is no tool %q; the tools are %s", tool, strings.Join(names, ", "))}
	}
	called, err := runtime.server.Call(ctx, tool, arguments)
	if err != nil {
		return err
	}
	out, text := command.OutOrStdout(), strings.TrimRight(shown(called, structured), "\n")
	if isTerminal(out) {
		text = escaped(text)
	}
	fmt.Fprintln(out, text)
	if called.IsError {
		return errReported
	}
	return nil
}

func shown(called server.Called, structured bool) string {
	if structured && called.Structured != nil {
		return string(called.Structured)
	}
	return called.Text
}

// callArguments reads key=value pairs or one JSON object.
func callArguments(args []string) (json.RawMessage, error) {
	if len(args) == 1 && strings.HasPrefix(strings.TrimSpace(args[0]), "{") {
		if !json.Valid([]byte(args[0])) {
			return nil, fmt.Errorf("the arguments are not valid JSON")
		}
		return json.RawMessage(args[0]), nil
	}
	values := map[string]json.RawMessage{}
	for _, arg := range args {
		key, value, err := callArgument(arg)
		if err != nil {
			return nil, err
		}
		if _, twice := values[key]; twice {
			return nil, fmt.Errorf("argument %q is given twice", key)
		}
		values[key] = value
	}
	return json.Marshal(values)
}

// callArgument reads key=text or key:=JSON.
func callArgument(arg string) (key string, value json.RawMessage, err error) {
	key, text, ok := strings.Cut(arg, "=")
	if !ok || key == "" || key == ":" {
		return "", nil, fmt.Errorf("%q is neither key=value nor a JSON object", arg)
	}
	if name, isJSON := strings.CutSuffix(key, ":"); isJSON {
		if !json.Valid([]byte(text)) {
			return "", nil, fmt.Errorf("%q does not hold valid JSON after :=", arg)
		}
		return name, json.RawMessage(text), nil
	}
	if number := jsonNumberOf(key, text); number != nil {
		return key, number, nil
	}
	value, err = json.Marshal(text)
	return key, value, err
}

// numeric are the arguments of our tools that are numbers.
var numeric = []string{"offset", "length", "timeoutMs"}

func jsonNumberOf(key, text string) json.RawMessage {
	var number json.Number
	if slices.Contains(numeric, key) && json.Unmarshal([]byte(text), &number) == nil {
		return json.RawMessage(text)
	}
	return nil
}
