import ESPHome

/// The file by which Avahi announces the proxy (avahi.service(5)).
enum AvahiService {
  static func text(_ device: DeviceDescription, port: UInt16, isEncrypted: Bool) -> String {
    var records = [
      "friendly_name=\(device.friendlyName)", "version=\(DeviceDescription.apiRelease)",
      "mac=\(device.compactAddress)", "platform=Linux", "board=bled", "network=ethernet",
      "project_name=\(DeviceDescription.project)", "project_version=\(device.version)",
    ]
    if isEncrypted { records.append("api_encryption=Noise_NNpsk0_25519_ChaChaPoly_SHA256") }
    let lines = records.map { "    <txt-record>\(escaped($0))</txt-record>" }.joined(separator: "\n")
    return """
      <?xml version="1.0" standalone="no"?>
      <!DOCTYPE service-group SYSTEM "avahi-service.dtd">
      <service-group>
        <name>\(escaped(device.name))</name>
        <service>
          <type>_esphomelib._tcp</type>
          <port>\(port)</port>
      \(lines)
        </service>
      </service-group>
      """
  }

  private static func escaped(_ text: String) -> String {
    text.map { character in
      switch character {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      default: String(character)
      }
    }.joined()
  }
}
