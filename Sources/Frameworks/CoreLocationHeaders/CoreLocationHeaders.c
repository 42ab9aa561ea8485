// The target has nothing to compile: its module map lets `import CoreLocation.CLBeaconRegion` name parts of
// CoreLocation.
