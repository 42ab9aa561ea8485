import CoreBluetooth
@_exported import Dispatch
@_exported import Foundation

#if compiler(<6.4)
  // For `String(format: "%@", …)` and `NSLog`.
  extension CLRegion: CBFormatArgument {}
  extension CLBeacon: CBFormatArgument {}
  extension CLBeaconIdentityConstraint: CBFormatArgument {}
  extension CLLocation: CBFormatArgument {}
  extension CLLocationManager: CBFormatArgument {}
#endif
