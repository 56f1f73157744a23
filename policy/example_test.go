package policy_test

import (
	"fmt"

	"github.com/skills-mcp/skills-mcp/policy"
)

func ExamplePolicy_Decide() {
	grants, faults := policy.Parse([]string{"Bash(git log:*), Read", "Bash (rm:*)"})
	fmt.Println(faults[0])

	decision := policy.Policy{}.Decide(grants, policy.Request{Op: policy.OpShell, Command: "git log | rm x"})
	fmt.Println(decision.Effect, "by", decision.Rule)
	fmt.Println(decision.Reason)
	fmt.Println(decision.Hint)
	// Output:
	// allowed-tools: "Bash (rm:*)": a space before the parenthesis
	// deny by allowed-tools: not listed
	// The command "rm x" is not in the skill's allowed-tools.
	// Allowed by this skill: Bash(git log:*), Read. Or run one of its scripts with `script` and `args`.
}
