using System.Security.Cryptography;
using System.Text;
using System.Text.Json.Nodes;
using Esb.Configuration.Settings;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Configuration.Compiling;

/// <summary>Identifies settings by content: the SHA-256 of their canonical form, with sorted members and without white space.</summary>
public static class Fingerprint
{
    private const int ShortLength = 12;

    /// <summary>As many hexadecimal digits of it as are shown to people.</summary>
    public static string Shorten(string fingerprint) => fingerprint[..ShortLength];

    /// <summary>Of lines, in their order.</summary>
    public static string Of(IEnumerable<string> lines) => Hash(new JsonArray([.. lines.Select(line => JsonValue.Create(line))]));

    /// <summary>Of settings.</summary>
    public static string Of(SettingsRecord settings) => Of(settings.Written);

    /// <summary>Returns the fingerprint of a whole configuration.</summary>
    internal static string Of(ConfigNode? node) => Hash(Canonical(node, []));

    /// <summary>Returns the fingerprint of settings and of the settings they depend on.</summary>
    /// <param name="settings">The settings.</param>
    /// <param name="without">The members to ignore.</param>
    /// <param name="ground">The settings they depend on.</param>
    public static string Of(SettingsRecord settings, IReadOnlyCollection<string> without, params IEnumerable<SettingsRecord?> ground) =>
        Hash(new JsonArray([Canonical(settings.Written, without), .. ground.Select(one => Canonical(one?.Written, []))]));

    private static string Hash(JsonNode? canonical) =>
        Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(canonical?.ToJsonString() ?? "")));

    private static JsonNode? Canonical(ConfigNode? node, IReadOnlyCollection<string> without) =>
        node?.Kind switch
        {
            null => null,
            ConfigKind.Object => new JsonObject(
                node.Members.OrderBy(member => member.Name, StringComparer.Ordinal)
                    .Where(member => member.Name != RootType.SchemaKey && !without.Contains(member.Name))
                    .Select(member => KeyValuePair.Create(member.Name, Canonical(member.Value, [])))
            ),
            ConfigKind.Array => new JsonArray([.. node.Items.Select(item => Canonical(item, []))]),
            _ => node.ToJson(),
        };
}
