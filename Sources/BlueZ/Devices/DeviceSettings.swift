/// The properties of a device that programs set: they outlast the object and the process.
package struct DeviceSettings: Codable, Hashable, Sendable {
  package var isTrusted = false
  package var alias: String?

  package init() {}

  var isDefault: Bool { self == DeviceSettings() }
}
