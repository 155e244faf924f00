// Without an import of SteadFiles, programs can set `Stead.onProblem`.
@_exported public import enum SteadFiles.Stead
