package paths

// Listed is a group of names as a table shows it.
type Listed struct {
	Reason        string
	Names, Except []string
}

// Lists returns the built-in lists by the names of their tables.
func Lists() map[string][]Listed {
	lists := map[string][]Listed{}
	for name, groups := range map[string][]group{"hidden": hiddenGroups, "protected": protectedGroups} {
		for _, g := range groups {
			lists[name] = append(lists[name], Listed{g.reason, g.names, g.except})
		}
	}
	return lists
}
