@_exported public import SteadRecords
