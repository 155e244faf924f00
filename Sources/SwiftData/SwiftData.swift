// What Apple's framework brings with it, too: its own API, Foundation, and Observation.
@_exported public import Foundation
@_exported public import Observation
@_exported public import SteadRecords
