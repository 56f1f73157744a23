package main

import "runtime/debug"

// version is set by the build: -ldflags "-X main.version=1.2.3".
var version = ""

// programVersion is the build's version, else the module's, else "dev".
func programVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}
