package shares

// Schemas of what results hold.
const (
	ChangeSchema = `{"type": "object", "properties": {
      "path": {"type": "string", "description": "Relative to the directory."},
      "kind": {"type": "string", "enum": ["added", "modified", "deleted", "mode"]},
      "type": {"type": "string", "enum": ["file", "directory", "link"]},
      "mode": {"type": "string", "description": "Permissions, such as 0644."}, "size": {"type": "integer"}, "digest": {"type": "string"}, "link": {"type": "string"},
      "conflict": {"type": "string", "description": "Why it cannot be applied as things are."}
    }, "required": ["path", "kind", "type", "mode"]}`
	RefusalSchema   = `{"type": "object", "properties": {"path": {"type": "string"}, "reason": {"type": "string"}}, "required": ["path", "reason"]}`
	ChangeSetSchema = `{"type": "object", "description": "What is held of a directory, by its id; lists have 100 elements at most, and how many more there are.", "properties": {
      "id": {"type": "string", "description": "What applyChanges takes as its argument changes."},
      "of": {"type": "string", "description": "The user's directory, which is not changed yet."},
      "held": {"type": "array", "items": ` + ChangeSchema + `},
      "heldOmitted": {"type": "integer"},
      "refused": {"type": "array", "description": "What can never be applied.", "items": ` + RefusalSchema + `},
      "refusedOmitted": {"type": "integer"},
      "applied": {"type": "array", "description": "What was written at once, as the user allowed beforehand.", "items": {"type": "object"}},
      "appliedOmitted": {"type": "integer"},
      "conflicts": {"type": "array", "items": {"type": "object"}},
      "conflictsOmitted": {"type": "integer"},
      "undo": {"type": "string"},
      "fault": {"type": "string"}
    }, "required": ["id", "of", "held"]}`
	shownSchema = `{"type": "object", "properties": {
      "path": {"type": "string", "description": "Where programs see it."},
      "access": {"type": "string", "enum": ["off", "read", "review", "write"]},
      "reason": {"type": "string"}
    }, "required": ["access"]}`
	// ReportSchema are the properties of a [Report].
	ReportSchema = `"project": ` + shownSchema + `,
    "shares": {"type": "array", "description": "Other directories of the user, each as project.", "items": {"type": "object"}},
    "changes": ` + ChangeSetSchema + `,
    "otherChanges": {"type": "array", "description": "Those of other directories, each as changes.", "items": {"type": "object"}}`
)
