import CoreBluetooth.CBUUID

/// Services by their names.
public enum Service: String, CaseIterable {
  case heartRate = "180D"
  case battery = "180F"

  var uuid: CBUUID { CBUUID(string: rawValue) }
}
