using System.Text.Json.Serialization;
using Esb.Core.Audit;
using Esb.Core.Replays;
using Esb.Core.Storage;
using Esb.Storage.Activities;
using Esb.Storage.Archives;
using Esb.Storage.Evidence;
using Esb.Storage.Files;
using Esb.Storage.TakeOver;

namespace Esb.Storage;

[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    IgnoreReadOnlyProperties = true,
    UseStringEnumConverter = true
)]
[JsonSerializable(typeof(AuditFact))]
[JsonSerializable(typeof(ConfigurationContent))]
[JsonSerializable(typeof(FactRecord))]
[JsonSerializable(typeof(Anchor))]
[JsonSerializable(typeof(ArchiveHeader))]
[JsonSerializable(typeof(ArchiveLine))]
[JsonSerializable(typeof(ArchiveFooter))]
[JsonSerializable(typeof(LetterEvent))]
[JsonSerializable(typeof(ReplayRequest))]
[JsonSerializable(typeof(IReadOnlyList<FailedAttempt>))]
[JsonSerializable(typeof(KeptAttempts))]
[JsonSerializable(typeof(EarlierKey))]
[JsonSerializable(typeof(ParkingEvent))]
[JsonSerializable(typeof(EarlierProgress))]
[JsonSerializable(typeof(Dictionary<string, DateTimeOffset>))]
[JsonSerializable(typeof(Dictionary<string, ActivityDatum>))]
[JsonSerializable(typeof(IReadOnlyList<FailedAttempt>))]
[JsonSerializable(typeof(IReadOnlyDictionary<string, string>))]
internal sealed partial class StorageJson : JsonSerializerContext;
