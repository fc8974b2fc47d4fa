using System.Text.Json.Serialization;
using Esb.Core.Audit;
using Esb.Core.Storage;
using Esb.Storage.Files;
using Esb.Storage.Files.Keys;
using Esb.Storage.Files.Parking;

namespace Esb.Storage;

[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    UseStringEnumConverter = true)]
[JsonSerializable(typeof(AuditFact))]
[JsonSerializable(typeof(StoredDeadLetter))]
[JsonSerializable(typeof(StoredKey))]
[JsonSerializable(typeof(ParkingEvent))]
[JsonSerializable(typeof(IReadOnlyList<FailedAttempt>))]
[JsonSerializable(typeof(IReadOnlyDictionary<string, string>))]
internal sealed partial class StorageJson : JsonSerializerContext;
