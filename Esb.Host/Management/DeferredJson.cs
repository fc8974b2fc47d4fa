using System.Text.Json;
using System.Text.Json.Serialization;

namespace Esb.Host.Management;

/// <summary>Prepares the serializer for a type of the API when the first value of it is written. The routes ask for the types of all their
/// answers before the first request; preparing these takes 0.2 s, and most hosts write few of them.</summary>
internal sealed class DeferredJson : JsonConverterFactory
{
    public override bool CanConvert(Type typeToConvert) => true;

    public override JsonConverter CreateConverter(Type typeToConvert, JsonSerializerOptions options) =>
        (JsonConverter)Activator.CreateInstance(typeof(Deferred<>).MakeGenericType(typeToConvert))!;

    private sealed class Deferred<T> : JsonConverter<T>
    {
        public override T? Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
            JsonSerializer.Deserialize<T>(ref reader, ManagementServer.Json);

        public override void Write(Utf8JsonWriter writer, T value, JsonSerializerOptions options) =>
            JsonSerializer.Serialize(writer, value, ManagementServer.Json);
    }
}
