package filestat

import "syscall"

func changedAt(stat *syscall.Stat_t) int64 { return stat.Ctimespec.Nano() }
