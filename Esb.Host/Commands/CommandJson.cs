using System.Text.Json;
using Esb.Core.Configuration;
using Esb.Host.Management;

namespace Esb.Host.Commands;

/// <summary>Writes API responses as JSON, for people and programs.</summary>
internal static class CommandJson
{
    private static readonly JsonSerializerOptions Json = MakeJson();

    public static string Write<T>(T value) => JsonSerializer.Serialize(value, Json);

    /// <summary>A name in the notation of the API.</summary>
    public static string NameOf<T>(T value)
        where T : struct, Enum => JsonNamingPolicy.KebabCaseLower.ConvertName(value.ToString());

    private static JsonSerializerOptions MakeJson()
    {
        var options = new JsonSerializerOptions(JsonStyle.Indented);
        ManagementServer.Configure(options);
        return options;
    }
}
