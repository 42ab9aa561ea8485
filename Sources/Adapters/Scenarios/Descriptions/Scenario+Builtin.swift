extension Scenario {
  /// The scenario of `--adapter simulated` without a file.
  public static let builtin = (try? Scenario(json: builtinText, name: "built-in scenario")) ?? Scenario()

  /// An adapter without devices or phones.
  public static let empty = Scenario()

  /// The text of the built-in scenario: a file to start your own from.
  public static let builtinText = """
    // A scenario for bled's simulated adapter: JSON, in which comments and trailing commas are allowed.
    // Times are in seconds, octets are hex digits. Everything is described in docs/simulator.md.
    {
      "devices": [
        {
          "name": "Heart Belt",
          "address": "C0:DE:00:00:00:01", "addressType": "random",
          "interval": 0.1,
          "advertising": { "name": "Heart Belt", "services": ["180D"], "appearance": 833 },
          "rssi": { "base": -58, "noise": 2, "walk": 0.5 },
          "services": [
            {
              "uuid": "180D",  // Heart Rate
              "characteristics": [
                {
                  "uuid": "2A37",  // Heart Rate Measurement: flags (contact detected), then beats a minute
                  "properties": ["notify"], "notifyEvery": 1,
                  "value": "0648",
                  "rule": { "kind": "randomWalk", "from": 72, "step": 3, "minimum": 55, "maximum": 160, "as": "uint8", "at": 1 },
                },
                { "uuid": "2A38", "properties": ["read"], "value": "01" },  // Body Sensor Location: chest
              ],
            },
            {
              "uuid": "180A",  // Device Information
              "characteristics": [
                { "uuid": "2A29", "properties": ["read"], "text": "bled" },
                { "uuid": "2A24", "properties": ["read"], "text": "Simulated belt" },
              ],
            },
          ],
        },
        {
          "name": "Thermometer",
          "address": "C0:DE:00:00:00:02", "addressType": "random",
          "interval": 0.2,
          "advertising": { "name": "Thermometer", "services": ["1809"], "appearance": 768 },
          "rssi": { "base": -67, "noise": 3 },
          "services": [
            {
              "uuid": "1809",  // Health Thermometer
              "characteristics": [
                {
                  "uuid": "2A1C",  // Temperature Measurement: flags (degrees Celsius), then an IEEE 11073 float
                  "properties": ["indicate"], "notifyEvery": 2,
                  "value": "00",
                  "rule": { "kind": "sine", "mean": 36.8, "amplitude": 0.4, "period": 120, "as": "medfloat32", "at": 1 },
                },
                { "uuid": "2A1D", "properties": ["read"], "value": "02" },  // Temperature Type: body
              ],
            },
          ],
        },
        {
          "name": "Battery",
          "address": "C0:DE:00:00:00:03", "addressType": "random",
          "interval": 0.25,
          "advertising": { "name": "Battery", "services": ["180F"], "serviceData": { "180F": "64" } },
          "rssi": { "base": -75, "noise": 4, "walk": 1 },
          "services": [
            {
              "uuid": "180F",  // Battery Service
              "characteristics": [
                {
                  "uuid": "2A19",  // Battery Level: empties in an hour
                  "properties": ["read", "notify"], "notifyEvery": 5,
                  "rule": { "kind": "ramp", "from": 100, "to": 0, "over": 3600, "as": "uint8" },
                },
              ],
            },
          ],
        },
        {
          "name": "Echo",
          "address": "C0:DE:00:00:00:04", "addressType": "random",
          "interval": 0.1,
          "advertising": { "services": ["B1ED0001-5EED-4B1E-8D00-000000000000"] },
          "scanResponse": { "name": "Echo" },
          "mtu": 517,
          "echoPSM": 128,  // echoes L2CAP channels to this number
          "services": [
            {
              "uuid": "B1ED0001-5EED-4B1E-8D00-000000000000",
              "characteristics": [
                {
                  "uuid": "B1ED0002-5EED-4B1E-8D00-000000000000",  // written values are read back and notified
                  "properties": ["read", "write", "writeWithoutResponse", "notify"],
                  "text": "Write something.",
                  "rule": { "kind": "echo" },
                  "descriptors": [{ "uuid": "2901", "text": "Echo" }],
                },
                {
                  "uuid": "B1ED0003-5EED-4B1E-8D00-000000000000",  // as long as a value can be
                  "properties": ["read"],
                  "text": "0123456789abcdef", "length": 512,
                  "descriptors": [{ "uuid": "2901", "text": "512 octets" }],
                },
              ],
            },
          ],
        },
      ],
      "phones": [
        {
          "name": "Phone",
          "address": "C0:DE:00:00:01:01", "addressType": "random",
          // Visits any connectable advertisement of ours; "services" and "namePrefix" would make it choosy.
          "connectDelay": [0.3, 0.8],
          "script": [
            { "do": "read" },  // everything that can be read
            { "do": "write", "text": "Hello from the phone" },  // to everything that can be written
            { "do": "subscribe" },  // to everything that notifies or indicates
          ],
          "stay": 8,
          "returnAfter": 10,
        },
      ],
    }
    """

  /// A scenario with an adapter, without devices or phones.
  private init() {
    adapter = AdapterDescription()
    devices = []
    phones = []
    events = []
  }
}
