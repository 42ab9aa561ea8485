import Fuzzing

/// As many handles as links, trains and devices in lists can have.
private let most = 4096

/// No collection in a machine has more elements than there are handles.
func checkBounds(of value: Any, _ name: String) {
  if let octets = value as? [UInt8] { return invariant(octets.count <= 65_540, "\(name) has \(octets.count) octets") }
  let mirror = Mirror(reflecting: value)
  switch mirror.displayStyle {
  case .collection, .dictionary, .set:
    invariant(mirror.children.count <= most, "\(name) has \(mirror.children.count) elements")
  default: break
  }
  for child in mirror.children { checkBounds(of: child.value, child.label.map { "\(name).\($0)" } ?? name) }
}
