using System.Reflection;
using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.Json.Serialization;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Configuration.Settings;

/// <summary>One of the names of an enumeration: in kebab case, or as specified by a
/// <see cref="JsonStringEnumMemberNameAttribute"/>.</summary>
internal sealed class ChoiceType(Type type) : ScalarType
{
    private readonly IReadOnlyList<Enum> _choices = [.. Enum.GetValues(type).Cast<Enum>()];
    private readonly string _code = type.GetCustomAttribute<ChoiceCodeAttribute>()?.Code ?? "ESB-CFG-VALUE";

    private IEnumerable<string> Available => _choices.Where(choice => Attribute<UnavailableAttribute>(choice) is null).Select(NameOf);

    public static string NameOf(Enum choice) =>
        Attribute<JsonStringEnumMemberNameAttribute>(choice)?.Name ?? JsonNamingPolicy.KebabCaseLower.ConvertName(choice.ToString());

    public override JsonObject Describe(SchemaWriter schema) =>
        SchemaWriter.OrReference(new JsonObject { ["enum"] = new JsonArray([.. Available.Select(name => JsonValue.Create(name))]) });

    protected override object? ParseResolved(ConfigNode node, SettingsReader reader)
    {
        var found = node.Kind == ConfigKind.Text ? _choices.FirstOrDefault(choice => NameOf(choice) == node.Text) : null;
        if (found is null)
            reader.Errors.Add(_code, node, $"expected one of {string.Join(", ", Available)}{NearestName.Hint(node.Text, Available)}");
        else if (Attribute<UnavailableAttribute>(found) is null)
            return found;
        else
            reader.Errors.Add(
                "ESB-CFG-UNAVAILABLE",
                node,
                $"is designed, but this version cannot do it yet; expected one of {string.Join(", ", Available)}"
            );
        return null;
    }

    private static T? Attribute<T>(Enum choice)
        where T : Attribute => choice.GetType().GetField(choice.ToString())?.GetCustomAttribute<T>();
}
