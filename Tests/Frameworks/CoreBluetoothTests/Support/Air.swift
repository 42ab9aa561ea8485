import Foundation

/// The simulated devices of these tests.
enum Air {
  static let custom = "B1ED0001-5EED-4B1E-8D00-000000000000"
  static let echo = "B1ED0002-5EED-4B1E-8D00-000000000000"
  static let long = "B1ED0003-5EED-4B1E-8D00-000000000000"

  static let scenario = """
    {
      "devices": [
        {
          "name": "Belt", "address": "C0:DE:00:00:00:01", "addressType": "random", "interval": 0.05,
          "advertising": { "name": "Belt", "services": ["180D"], "manufacturerData": "4c000102" },
          "services": [
            { "uuid": "180F", "primary": false, "characteristics": [
              { "uuid": "2A19", "properties": ["read"], "value": "63" } ] },
            { "uuid": "180D", "includes": ["180F"], "characteristics": [
              { "uuid": "2A37", "properties": ["notify"], "notifyEvery": 0.1, "value": "0648" },
              { "uuid": "2A38", "properties": ["read"], "value": "01" } ] },
            { "uuid": "180A", "characteristics": [
              { "uuid": "2A29", "properties": ["read"], "text": "bled" } ] },
          ],
        },
        {
          "name": "Echo", "address": "C0:DE:00:00:00:04", "addressType": "random", "interval": 0.05,
          "advertising": { "services": ["\(custom)"], "serviceData": { "180F": "64" } },
          "scanResponse": { "name": "Echo" },
          "echoPSM": 192,
          "mtu": 200,
          "services": [
            { "uuid": "\(custom)", "characteristics": [
              { "uuid": "\(echo)", "properties": ["read", "write", "writeWithoutResponse", "notify", "indicate"],
                "text": "Write something.", "rule": { "kind": "echo" },
                "descriptors": [{ "uuid": "2901", "text": "Echo" }, { "uuid": "2904", "value": "04000027010000" }] },
              { "uuid": "\(long)", "properties": ["read"], "text": "0123456789abcdef", "length": 512 } ] },
          ],
        },
        {
          "name": "Scale", "address": "C0:DE:00:00:00:05", "addressType": "random", "interval": 0.05,
          "advertising": { "name": "Scale", "services": ["1809"] },
          "services": [
            { "uuid": "1809", "characteristics": [
              { "uuid": "2A1C", "properties": ["indicate"], "notifyEvery": 0.1, "value": "00700100ff" } ] },
          ],
        },
        {
          "name": "Far", "address": "C0:DE:00:00:00:06", "addressType": "random", "interval": 0.05,
          "advertising": { "name": "Far", "services": ["181A"] },
          "losses": { "connect": 1 },
          "services": [],
        },
        {
          "name": "Slow", "address": "C0:DE:00:00:00:07", "addressType": "random", "interval": 0.05,
          "advertising": { "name": "Slow", "services": ["181C"] },
          "responseDelay": 0.4,
          "services": [
            { "uuid": "181C", "characteristics": [{ "uuid": "2A8A", "properties": ["read"], "text": "Slow" }] } ],
        },
      ],
      "phones": [
        {
          "name": "Phone", "address": "C0:DE:00:00:01:01", "addressType": "random", "services": ["180D"],
          "connectDelay": 0.1,
          "script": [
            { "do": "read" }, { "do": "write", "text": "Hello" }, { "do": "subscribe" }, { "do": "wait", "seconds": 1 },
            { "do": "unsubscribe" },
          ],
          "stay": 1.5, "returnAfter": 0.5,
        },
      ],
    }
    """

  /// The scenario with one part of its text replaced.
  /// - Throws: if the part does not occur exactly once, as the test would then be about something else.
  static func scenario(replacing part: String, with other: String) throws -> String {
    let pieces = scenario.components(separatedBy: part)
    guard pieces.count == 2 else { throw NoSuchPart(part: part, count: pieces.count - 1) }
    return pieces.joined(separator: other)
  }

  struct NoSuchPart: Error {
    let part: String
    let count: Int
  }
}
