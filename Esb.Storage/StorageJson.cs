using System.Text.Json.Serialization;
using Esb.Core.Audit;
using Esb.Storage.Files;
using Esb.Storage.Files.Keys;

namespace Esb.Storage;

[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase,
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    UseStringEnumConverter = true)]
[JsonSerializable(typeof(AuditFact))]
[JsonSerializable(typeof(StoredDeadLetter))]
[JsonSerializable(typeof(StoredKey))]
[JsonSerializable(typeof(IReadOnlyDictionary<string, string>))]
internal sealed partial class StorageJson : JsonSerializerContext;
