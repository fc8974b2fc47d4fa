using System.Globalization;
using System.Text.Json.Nodes;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Topics;

namespace Esb.Configuration.Settings;

internal sealed class IntegerType : ScalarType
{
    private readonly Type _type;
    private readonly long _minimum;
    private readonly long _maximum;

    public IntegerType(Type type, SettingAttribute setting)
    {
        _type = type;
        var (minimum, maximum) = SettingRange.Split(setting.Range);
        _minimum = minimum is null ? 0 : long.Parse(minimum, CultureInfo.InvariantCulture);
        _maximum = maximum is null ? int.MaxValue : long.Parse(maximum, CultureInfo.InvariantCulture);
    }

    private string Accepted => $"{_minimum}..{_maximum}";

    public override JsonObject Describe(SchemaWriter schema) =>
        SchemaWriter.OrReference(
            new JsonObject
            {
                ["type"] = "integer",
                ["minimum"] = _minimum,
                ["maximum"] = _maximum,
            }
        );

    protected override object? ParseResolved(ConfigNode node, SettingsReader reader)
    {
        // A number may be written as text if it comes from an environment variable or a reference, and as 1e3 anywhere.
        var isNumber = node.Kind == ConfigKind.Number || (node.Kind == ConfigKind.Text && node.IsIndirect);
        if (
            !isNumber
            || !double.TryParse(node.Text, NumberStyles.Float, CultureInfo.InvariantCulture, out var number)
            || double.IsNaN(number)
        )
            reader.Errors.Add("ESB-CFG-TYPE", node, $"expected integer {Accepted}, got {SettingsReader.Name(node.Kind)}");
        else if (double.IsFinite(number) && number != Math.Truncate(number))
            reader.Errors.Add("ESB-CFG-TYPE", node, $"expected integer {Accepted}, got a fraction");
        else if (number < _minimum || number > _maximum)
            reader.Errors.Add("ESB-CFG-RANGE", node, $"expected {Accepted}");
        else
            return _type == typeof(int) ? (object)(int)number : (long)number;
        return null;
    }
}

internal sealed class BooleanType : ScalarType
{
    public override JsonObject Describe(SchemaWriter schema) => SchemaWriter.OrReference(new JsonObject { ["type"] = "boolean" });

    protected override object? ParseResolved(ConfigNode node, SettingsReader reader)
    {
        var isBoolean = node.Kind == ConfigKind.Boolean || (node.Kind == ConfigKind.Text && node.IsIndirect);
        if (isBoolean && node.Text is "true" or "false")
            return node.Text == "true";
        reader.Errors.Add("ESB-CFG-TYPE", node, $"expected true or false, got {SettingsReader.Name(node.Kind)}");
        return null;
    }
}

internal sealed class DurationType(SettingAttribute setting) : ScalarType
{
    public override JsonObject Describe(SchemaWriter schema) => SchemaWriter.TextLike(@"^\d+(ms|s|m|h|d)$", setting.Range);

    protected override object? ParseResolved(ConfigNode node, SettingsReader reader)
    {
        var (minimum, maximum) = SettingRange.Split(setting.Range);
        if (node.Kind != ConfigKind.Text || !Duration.TryParse(node.Text, out var duration))
            reader.Errors.Add("ESB-CFG-DURATION", node, $"""expected a duration such as "5s" or "2m"{SettingRange.Hint(setting)}""");
        else if ((minimum is not null && duration < Read(minimum)) || (maximum is not null && duration > Read(maximum)))
            reader.Errors.Add("ESB-CFG-RANGE", node, $"expected {setting.Range}");
        else
            return duration;
        return null;
    }

    private static TimeSpan Read(string text) =>
        Duration.TryParse(text, out var duration) ? duration : throw new FormatException($"'{text}' is not a duration.");
}

internal sealed class SizeType(SettingAttribute setting) : ScalarType
{
    public override JsonObject Describe(SchemaWriter schema) => SchemaWriter.TextLike(@"^\d+(B|KiB|MiB|GiB)$", setting.Range);

    protected override object? ParseResolved(ConfigNode node, SettingsReader reader)
    {
        var (minimum, maximum) = SettingRange.Split(setting.Range);
        if (node.Kind != ConfigKind.Text || !ByteSize.TryParse(node.Text, out var size))
            reader.Errors.Add("ESB-CFG-SIZE", node, $"""expected a size such as "64KiB" or "4MiB"{SettingRange.Hint(setting)}""");
        else if ((minimum is not null && size.Bytes < Read(minimum)) || (maximum is not null && size.Bytes > Read(maximum)))
            reader.Errors.Add("ESB-CFG-RANGE", node, $"expected {setting.Range}");
        else
            return size;
        return null;
    }

    private static long Read(string text) =>
        ByteSize.TryParse(text, out var size) ? size.Bytes : throw new FormatException($"'{text}' is not a size.");
}

/// <summary>A value whose type parses its text.</summary>
internal sealed class ParsedType<T> : ScalarType
    where T : class, ITextSetting<T>
{
    public override JsonObject Describe(SchemaWriter schema) =>
        (typeof(T) == typeof(Subject) || typeof(T) == typeof(SubjectPattern)) && schema.NamesOf("topics") is { Count: > 0 } topics
            ? DescribeSubject(topics)
        : T.TakesNumbers ? SchemaWriter.AnyOf(new() { ["type"] = "string" }, new() { ["type"] = "integer" })
        : new() { ["type"] = "string" };

    // Names of things hold no characters that mean something in a pattern.
    private static JsonObject DescribeSubject(IReadOnlyList<string> topics)
    {
        var described = SchemaWriter.TextLike($@"^({string.Join('|', topics)})(\.|$)", range: null);
        described["examples"] = new JsonArray([.. topics.Select(topic => (JsonNode)(typeof(T) == typeof(Subject) ? topic : $"{topic}.#"))]);
        return described;
    }

    protected override object? ParseResolved(ConfigNode node, SettingsReader reader)
    {
        if ((node.Kind == ConfigKind.Text || (node.Kind == ConfigKind.Number && T.TakesNumbers)) && T.Parse(node.Text) is { } value)
        {
            if (value.Reference is { } reference)
                reader.Refer(reference.Section, reference.Name, node);
            return value;
        }

        reader.Errors.Add(T.Code, node, T.Expected);
        return null;
    }
}

/// <summary>Any JSON, kept as it was written.</summary>
internal sealed class JsonType : ScalarType
{
    public override VariableForm Form => VariableForm.JsonOrText;

    public override JsonObject Describe(SchemaWriter schema) => [];

    protected override object? ParseResolved(ConfigNode node, SettingsReader reader) => HasUnknownReference(node, reader) ? null : node;

    private static bool HasUnknownReference(ConfigNode node, SettingsReader reader)
    {
        var unknown = node.Items.Concat(node.Members.Select(member => member.Value)).Count(child => HasUnknownReference(child, reader)) > 0;
        return reader.RefusesReference(node, SettingAttribute.DefaultReferenceCode) || unknown;
    }
}

internal static class SettingRange
{
    public static (string? Minimum, string? Maximum) Split(string? range) =>
        range?.Split("..") is [var minimum, var maximum] ? (minimum, maximum) : (null, null);

    /// <summary>Returns the range as the end of a sentence.</summary>
    public static string Hint(SettingAttribute setting) => setting.Range is null ? "" : $", {setting.Range}";
}
