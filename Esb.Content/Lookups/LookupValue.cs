using Esb.Configuration;
using Esb.Content.Expressions;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Content.Lookups;

/// <summary>A column of the entry that a look-up has under a key.</summary>
internal sealed class LookupValue(ILookup lookup, IMessageValue key, string? column, object? otherwise) : IMessageValue
{
    public bool ReadsBody => key.ReadsBody;

    public object? Evaluate(MessageContext context) =>
        (MessageValues.AsText(key.Evaluate(context)) is { } named ? lookup.Find(named, column) : null) ?? otherwise;

    /// <summary>Compiles the value; null after an error.</summary>
    /// <param name="source">The value; it names a look-up.</param>
    /// <param name="key">Its compiled key; null after an error.</param>
    /// <param name="lookups">The look-ups.</param>
    /// <param name="errors">Receives errors.</param>
    public static LookupValue? Compile(IValueSource source, IMessageValue? key, LookupModels? lookups, ConfigErrors errors)
    {
        var (settings, name) = ((SettingsRecord)source, source.Lookup!);
        if (source.Key is null)
            errors.Add("ESB-CFG-VALUE", settings, "key", "expected the value that the entry is found by");
        if (lookups?.Find(name) is not { } lookup)
            return null; // reported, as a missing reference or as a look-up with an error
        return key is not null && IsColumn(source, settings, lookup, errors)
            ? new LookupValue(lookup, key, source.Column, source.Otherwise is { } constant ? NumberText.FromConstant(constant) : null)
            : null;
    }

    // An empty file has no columns to compare with.
    private static bool IsColumn(IValueSource source, SettingsRecord settings, ILookup lookup, ConfigErrors errors)
    {
        if (lookup is not FileLookup { Content.Table: var table })
            return true; // the query decides
        if (table.Columns.Count == 0)
            return true;
        if (source.Column is { } column && !table.Columns.Contains(column))
            errors.Add(
                "ESB-CFG-REF",
                settings,
                "column",
                $"the look-up {source.Lookup} has no such column{NearestName.Hint(column, table.Columns)}"
            );
        else if (source.Column is null && table.OnlyColumn is null)
            errors.Add(
                "ESB-CFG-VALUE",
                settings,
                "column",
                $"expected a column of the look-up {source.Lookup}: {string.Join(", ", table.Columns)}"
            );
        else
            return true;
        return false;
    }
}
