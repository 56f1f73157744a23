package main

import (
	"encoding/json"
	"fmt"
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
			return call(command, flags, roots, args[0], args[1:], structured)
		},
	}
	command.Flags().SortFlags = false
	command.Flags().StringArrayVar(&roots, "root", nil, "a `ROOT`, as in 'skills-mcp --help' (repeatable); the default folders if absent")
	command.Flags().BoolVar(&structured, "structured", false, "print the structured content as JSON, where the tool gives it")
	return command
}

func call(command *cobra.Command, flags *settings, roots []string, tool string, args []string, structured bool) error {
	ctx := command.Context()
	if !command.Flags().Changed("log-level") {
		flags.logLevel = "error" // the answer is what was asked for
	}
	runtime, err := flags.open(ctx, command.ErrOrStderr(), roots)
	if err != nil {
		return err
	}
	defer runtime.close()
	types, err := argumentTypes(runtime.server.Tools(), tool)
	if err != nil {
		return usageError{err}
	}
	arguments, err := callArguments(args, types)
	if err != nil {
		return usageError{err}
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

// argumentTypes returns the types of a tool's arguments.
func argumentTypes(tools []server.Tool, name string) (map[string]string, error) {
	var names []string
	for _, tool := range tools {
		if tool.Name == name {
			return tool.Types, nil
		}
		names = append(names, tool.Name)
	}
	return nil, fmt.Errorf("there is no tool %q; the tools are %s", name, strings.Join(names, ", "))
}

// callArguments reads key=value pairs or one JSON object, for a tool whose
// arguments have these types.
func callArguments(args []string, types map[string]string) (json.RawMessage, error) {
	if len(args) == 1 && strings.HasPrefix(strings.TrimSpace(args[0]), "{") {
		if !json.Valid([]byte(args[0])) {
			return nil, fmt.Errorf("the arguments are not valid JSON")
		}
		return json.RawMessage(args[0]), nil
	}
	values := map[string]json.RawMessage{}
	for _, arg := range args {
		key, value, err := callArgument(arg, types)
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
func callArgument(arg string, types map[string]string) (key string, value json.RawMessage, err error) {
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
	if want := types[key]; want != "" && want != "string" && json.Valid([]byte(text)) {
		return key, json.RawMessage(text), nil
	}
	value, err = json.Marshal(text)
	return key, value, err
}
