using System.Text;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;

namespace Esb.Content.Formats.Fields;

/// <summary>Compiles types of fields, and the single characters that formats are made of.</summary>
internal static class FieldCompiler
{
    /// <summary>The type of a field; a text after an error.</summary>
    /// <param name="config">The field.</param>
    /// <param name="errors">Receives errors.</param>
    /// <param name="implied">Digits of the fraction that are written without a separator; null if none.</param>
    public static FieldType Compile(FieldConfig config, ConfigErrors errors, int? implied = null)
    {
        if (config.Format is not null && config.Type is not (FieldKind.Date or FieldKind.Time or FieldKind.DateTime))
            errors.Add("ESB-CFG-VALUE", config, "format", "only dates and times have a format");
        return config.Type switch
        {
            FieldKind.Integer => new NumberField((byte)'.', mayHaveFraction: false),
            FieldKind.Decimal => new NumberField(
                Character(config, "decimalSeparator", config.DecimalSeparator, errors),
                mayHaveFraction: true,
                implied
            ),
            FieldKind.Boolean => CompileBoolean(config, errors),
            FieldKind.Date or FieldKind.Time or FieldKind.DateTime => CompileTime(config, errors),
            _ => TextField.Instance,
        };
    }

    /// <summary>A setting that is one printable ASCII character, or a tab; a blank after an error.</summary>
    public static byte Character(SettingsRecord settings, string property, string text, ConfigErrors errors)
    {
        if (text is [(>= ' ' and <= '~') or '\t'])
            return (byte)text[0];
        errors.Add("ESB-CFG-VALUE", settings, property, "expected one ASCII character");
        return (byte)' ';
    }

    /// <summary>The encoding of this name; UTF-8 after an error.</summary>
    public static Encoding EncodingOf(SettingsRecord settings, string name, ConfigErrors errors)
    {
        if (Charsets.Find(name) is { } encoding)
            return encoding;
        errors.Add("ESB-CFG-VALUE", settings, "encoding", "expected a known encoding such as utf-8, iso-8859-1 or windows-1252");
        return Encoding.UTF8;
    }

    private static BooleanField CompileBoolean(FieldConfig config, ConfigErrors errors)
    {
        if (config.TrueText == config.FalseText)
            errors.Add("ESB-CFG-VALUE", config, "true", "expected another text than for false");
        return new BooleanField(config.TrueText, config.FalseText);
    }

    private static TimeField CompileTime(FieldConfig config, ConfigErrors errors)
    {
        var type = new TimeField(config.Type, config.Format);
        if (!type.IsUsable())
            errors.Add(
                "ESB-CFG-VALUE",
                config,
                "format",
                "expected a pattern in the letters of .NET that can be read back, such as \"dd.MM.yyyy\""
            );
        return type;
    }
}
