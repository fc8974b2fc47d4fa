using System.Globalization;

namespace Esb.Endpoints.Files;

/// <summary>The properties that a message brings from its file.</summary>
internal static class FileProperties
{
    /// <summary>Name, size in bytes, and time of the last change in UTC.</summary>
    public static IReadOnlyDictionary<string, object> Of(string name, long size, DateTime modified) =>
        new Dictionary<string, object>
        {
            ["file.name"] = name,
            ["file.size"] = size.ToString(CultureInfo.InvariantCulture),
            ["file.modified"] = modified.ToString("yyyy-MM-dd'T'HH:mm:ss'Z'", CultureInfo.InvariantCulture),
        };
}
