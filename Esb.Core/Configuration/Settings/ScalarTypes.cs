using System.Globalization;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Esb.Core.Configuration.Settings;

internal sealed class IntegerType : SettingType
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

    public override object? Read(ConfigNode node, SettingsReader reader)
    {
        // A number may be written as text where it came from outside, and as 1e3 anywhere.
        var isNumber = node.Kind == ConfigKind.Number || (node.Kind == ConfigKind.Text && node.IsIndirect);
        if (!isNumber || !double.TryParse(node.Text, NumberStyles.Float, CultureInfo.InvariantCulture, out var number))
            reader.Refuse("ESB-CFG-TYPE", node, $"expected integer {Accepted}, got {reader.Name(node.Kind)}");
        else if (double.IsFinite(number) && number != Math.Truncate(number))
            reader.Refuse("ESB-CFG-TYPE", node, $"expected integer {Accepted}, got a fraction");
        else if (!(number >= _minimum && number <= _maximum))
            reader.Refuse("ESB-CFG-RANGE", node, $"expected {Accepted}");
        else
            return _type == typeof(int) ? (object)(int)number : (long)number;
        return null;
    }

    public override JsonObject Describe(SchemaWriter schema) => new() { ["type"] = "integer", ["minimum"] = _minimum, ["maximum"] = _maximum };
}

internal sealed class BooleanType : SettingType
{
    public override object? Read(ConfigNode node, SettingsReader reader)
    {
        if (node.Kind == ConfigKind.Boolean || (node.Kind == ConfigKind.Text && node.IsIndirect && node.Text is "true" or "false"))
            return node.Text == "true";
        reader.Refuse("ESB-CFG-TYPE", node, $"expected true or false, got {reader.Name(node.Kind)}");
        return null;
    }

    public override JsonObject Describe(SchemaWriter schema) => new() { ["type"] = "boolean" };
}

internal sealed class DurationType(SettingAttribute setting) : SettingType
{
    public override object? Read(ConfigNode node, SettingsReader reader)
    {
        var (minimum, maximum) = SettingRange.Split(setting.Range);
        if (node.Kind != ConfigKind.Text || !Duration.TryParse(node.Text, out var duration))
            reader.Refuse("ESB-CFG-DURATION", node, $"""expected a duration such as "5s" or "2m"{(setting.Range is null ? "" : $", {setting.Range}")}""");
        else if ((minimum is not null && duration < Parse(minimum)) || (maximum is not null && duration > Parse(maximum)))
            reader.Refuse("ESB-CFG-RANGE", node, $"expected {setting.Range}");
        else
            return duration;
        return null;
    }

    public override JsonObject Describe(SchemaWriter schema) =>
        new() { ["type"] = "string", ["pattern"] = @"^\d+(ms|s|m|h|d)$|\$\{(env|file):" };

    private static TimeSpan Parse(string text) =>
        Duration.TryParse(text, out var duration) ? duration : throw new FormatException($"'{text}' is no duration.");
}

internal sealed class SizeType(SettingAttribute setting) : SettingType
{
    public override object? Read(ConfigNode node, SettingsReader reader)
    {
        var (minimum, maximum) = SettingRange.Split(setting.Range);
        if (node.Kind != ConfigKind.Text || !ByteSize.TryParse(node.Text, out var size))
            reader.Refuse("ESB-CFG-SIZE", node, $"""expected a size such as "64KiB" or "4MiB"{(setting.Range is null ? "" : $", {setting.Range}")}""");
        else if ((minimum is not null && size.Bytes < Parse(minimum)) || (maximum is not null && size.Bytes > Parse(maximum)))
            reader.Refuse("ESB-CFG-RANGE", node, $"expected {setting.Range}");
        else
            return size;
        return null;
    }

    public override JsonObject Describe(SchemaWriter schema) =>
        new() { ["type"] = "string", ["pattern"] = @"^\d+(B|KiB|MiB|GiB)$|\$\{(env|file):" };

    private static long Parse(string text) =>
        ByteSize.TryParse(text, out var size) ? size.Bytes : throw new FormatException($"'{text}' is no size.");
}

/// <summary>One of the names of an enumeration, written in kebab case.</summary>
internal sealed class ChoiceType(Type type) : SettingType
{
    private readonly string[] _names = [.. Enum.GetNames(type).Select(NameOf)];

    public static string NameOf(string member) => JsonNamingPolicy.KebabCaseLower.ConvertName(member);

    public override object? Read(ConfigNode node, SettingsReader reader)
    {
        var index = node.Kind == ConfigKind.Text ? Array.IndexOf(_names, node.Text) : -1;
        if (index >= 0) return Enum.GetValues(type).GetValue(index);
        reader.Refuse("ESB-CFG-VALUE", node, $"expected one of {string.Join(", ", _names)}{NearestName.Hint(node.Text, _names)}");
        return null;
    }

    public override JsonObject Describe(SchemaWriter schema) => new() { ["enum"] = new JsonArray([.. _names.Select(name => JsonValue.Create(name))]) };
}

/// <summary>A value that parses itself.</summary>
internal sealed class ParsedType<T> : SettingType
    where T : class, ITextSetting<T>
{
    public override object? Read(ConfigNode node, SettingsReader reader)
    {
        if (node.Kind == ConfigKind.Text && T.Parse(node.Text) is { } value)
        {
            if (value.Reference is { } reference) reader.Refer(reference.Section, reference.Name, node);
            return value;
        }

        reader.Refuse(T.Code, node, T.Expected);
        return null;
    }

    public override JsonObject Describe(SchemaWriter schema) => new() { ["type"] = "string" };
}

/// <summary>Any JSON, kept as it was written.</summary>
internal sealed class JsonType : SettingType
{
    public override bool IsWrittenAsJson => true;

    public override object? Read(ConfigNode node, SettingsReader reader) => node;

    public override JsonObject Describe(SchemaWriter schema) => [];
}

internal static class SettingRange
{
    public static (string? Minimum, string? Maximum) Split(string? range) =>
        range?.Split("..") is [var minimum, var maximum] ? (minimum, maximum) : (null, null);
}
