package project

// WithoutCredentials is what programs see of a git configuration.
var WithoutCredentials = withoutCredentials
