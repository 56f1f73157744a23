package project

import "time"

// WithoutCredentials is what programs see of a git configuration.
var WithoutCredentials = withoutCredentials

// SettleAtOnce has the view believe all times that it sees, as if they were old.
func (v *FileView) SettleAtOnce() { v.settle = -time.Hour }
