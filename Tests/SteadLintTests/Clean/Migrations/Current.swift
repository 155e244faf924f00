typealias Trip = TripsSchemaV3.Trip
typealias Stop = TripsSchemaV3.Stop
