// swift-format-ignore-file
// Generated from Data/assigned-numbers by Scripts/generate-assigned-numbers. Do not edit.

extension AssignedNumbers {
    /// The name of an appearance, else that of its category: `Heart Rate Belt` for 0x0341.
    @_alwaysEmitIntoClient
    public static func appearance(_ value: UInt16) -> String? {
        name(of: value, in: appearances) ?? name(of: value & ~0x3F, in: appearances)
    }

    /// Source: Assigned Numbers, 2.6.
    @_alwaysEmitIntoClient
    static var appearances: StaticString {
#"""
000	Unknown
004	Phone
008	Computer	Desktop Workstation	Server-class Computer	Laptop	Handheld PC/PDA (clamshell)	Palm-size PC/PDA	Wearable computer (watch size)	Tablet	Docking Station	All in One	Blade Server	Convertible	Detachable	IoT Gateway	Mini PC	Stick PC
00C	Watch	Sports Watch	Smartwatch
010	Clock
014	Display
018	Remote Control
01C	Eye-glasses
020	Tag
024	Keyring
028	Media Player
02C	Barcode Scanner
030	Thermometer	Ear Thermometer
034	Heart Rate Sensor	Heart Rate Belt
038	Blood Pressure	Arm Blood Pressure	Wrist Blood Pressure
03C	Human Interface Device	Keyboard	Mouse	Joystick	Gamepad	Digitizer Tablet	Card Reader	Digital Pen	Barcode Scanner	Touchpad	Presentation Remote
040	Glucose Meter
044	Running Walking Sensor	In-Shoe Running Walking Sensor	On-Shoe Running Walking Sensor	On-Hip Running Walking Sensor
048	Cycling	Cycling Computer	Speed Sensor	Cadence Sensor	Power Sensor	Speed and Cadence Sensor
04C	Control Device	Switch	Multi-switch	Button	Slider	Rotary Switch	Touch Panel	Single Switch	Double Switch	Triple Switch	Battery Switch	Energy Harvesting Switch	Push Button	Dial
050	Network Device	Access Point	Mesh Device	Mesh Network Proxy
054	Sensor	Motion Sensor	Air quality Sensor	Temperature Sensor	Humidity Sensor	Leak Sensor	Smoke Sensor	Occupancy Sensor	Contact Sensor	Carbon Monoxide Sensor	Carbon Dioxide Sensor	Ambient Light Sensor	Energy Sensor	Color Light Sensor	Rain Sensor	Fire Sensor
055	Wind Sensor	Proximity Sensor	Multi-Sensor	Flush Mounted Sensor	Ceiling Mounted Sensor	Wall Mounted Sensor	Multisensor	Energy Meter	Flame Detector	Vehicle Tire Pressure Sensor
058	Light Fixtures	Wall Light	Ceiling Light	Floor Light	Cabinet Light	Desk Light	Troffer Light	Pendant Light	In-ground Light	Flood Light	Underwater Light	Bollard with Light	Pathway Light	Garden Light	Pole-top Light	Spotlight
059	Linear Light	Street Light	Shelves Light	Bay Light	Emergency Exit Light	Light Controller	Light Driver	Bulb	Low-bay Light	High-bay Light
05C	Fan	Ceiling Fan	Axial Fan	Exhaust Fan	Pedestal Fan	Desk Fan	Wall Fan
060	HVAC	Thermostat	Humidifier	De-humidifier	Heater	Radiator	Boiler	Heat Pump	Infrared Heater	Radiant Panel Heater	Fan Heater	Air Curtain
064	Air Conditioning
068	Humidifier
06C	Heating	Radiator	Boiler	Heat Pump	Infrared Heater	Radiant Panel Heater	Fan Heater	Air Curtain
070	Access Control	Access Door	Garage Door	Emergency Exit Door	Access Lock	Elevator	Window	Entrance Gate	Door Lock	Locker
074	Motorized Device	Motorized Gate	Awning	Blinds or Shades	Curtains	Screen
078	Power Device	Power Outlet	Power Strip	Plug	Power Supply	LED Driver	Fluorescent Lamp Gear	HID Lamp Gear	Charge Case	Power Bank
07C	Light Source	Incandescent Light Bulb	LED Lamp	HID Lamp	Fluorescent Lamp	LED Array	Multi-Color LED Array	Low voltage halogen	Organic light emitting diode (OLED)
080	Window Covering	Window Shades	Window Blinds	Window Awning	Window Curtain	Exterior Shutter	Exterior Screen
084	Audio Sink	Standalone Speaker	Soundbar	Bookshelf Speaker	Standmounted Speaker	Speakerphone
088	Audio Source	Microphone	Alarm	Bell	Horn	Broadcasting Device	Service Desk	Kiosk	Broadcasting Room	Auditorium
08C	Motorized Vehicle	Car	Large Goods Vehicle	2-Wheeled Vehicle	Motorbike	Scooter	Moped	3-Wheeled Vehicle	Light Vehicle	Quad Bike	Minibus	Bus	Trolley	Agricultural Vehicle	Camper / Caravan	Recreational Vehicle / Motor Home
090	Domestic Appliance	Refrigerator	Freezer	Oven	Microwave	Toaster	Washing Machine	Dryer	Coffee maker	Clothes iron	Curling iron	Hair dryer	Vacuum cleaner	Robotic vacuum cleaner	Rice cooker	Clothes steamer
094	Wearable Audio Device	Earbud	Headset	Headphones	Neck Band
098	Aircraft	Light Aircraft	Microlight	Paraglider	Large Passenger Aircraft
09C	AV Equipment	Amplifier	Receiver	Radio	Tuner	Turntable	CD Player	DVD Player	Bluray Player	Optical Disc Player	Set-Top Box
0A0	Display Equipment	Television	Monitor	Projector
0A4	Hearing aid	In-ear hearing aid	Behind-ear hearing aid	Cochlear Implant
0A8	Gaming	Home Video Game Console	Portable handheld console
0AC	Signage	Digital Signage	Electronic Label
0C4	Pulse Oximeter	Fingertip Pulse Oximeter	Wrist Worn Pulse Oximeter
0C8	Weight Scale
0CC	Personal Mobility Device	Powered Wheelchair	Mobility Scooter
0D0	Continuous Glucose Monitor
0D4	Insulin Pump	Insulin Pump, durable pump			Insulin Pump, patch pump				Insulin Pen
0D8	Medication Delivery
0DC	Spirometer	Handheld Spirometer
144	Outdoor Sports Activity	Location Display	Location and Navigation Display	Location Pod	Location and Navigation Pod
"""#
    }
}
