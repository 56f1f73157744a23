package project

import "time"

// SettleAtOnce has the view believe all times that it sees, as if they were old.
func (v *View) SettleAtOnce() { v.tree.settle, v.configs.settle = -time.Hour, -time.Hour }
