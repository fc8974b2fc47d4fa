using Esb.Core.Configuration;
using Esb.Core.Endpoints;

namespace Esb.Endpoints.Files;

/// <summary>Trigger files: a file is complete once another file, named after it, exists. Immutable.</summary>
internal sealed class ReadyRule
{
    private const string Place = "{name}";

    private readonly string _before;
    private readonly string _after;

    private ReadyRule(string before, string after) => (_before, _after) = (before, after);

    /// <summary>Parses a rule such as <c>{name}.ok</c>; null if it is not one.</summary>
    public static ReadyRule? Parse(string text)
    {
        var at = text.IndexOf(Place, StringComparison.Ordinal);
        if (at < 0 || text.Length == Place.Length || text.AsSpan(at + 1).Contains(Place, StringComparison.Ordinal))
            return null;
        return SafeFileName.WhatIsWrong(text.Replace(Place, "x", StringComparison.Ordinal)) is null
            ? new ReadyRule(text[..at], text[(at + Place.Length)..])
            : null;
    }

    /// <summary>Reports a rule that is not one.</summary>
    public static void Check(EndpointConfig settings, string? text, ConfigErrors errors)
    {
        if (text is not null && settings.IsSound("ready") && Parse(text) is null)
            errors.Add(
                "ESB-CFG-VALUE",
                settings,
                "ready",
                "expected the name of the trigger file with {name} once for that of the file, such as \"{name}.ok\""
            );
    }

    /// <summary>The trigger of a file.</summary>
    public string TriggerOf(string name) => _before + name + _after;

    /// <summary>The file of a trigger; null if the name is not that of a trigger.</summary>
    public string? FileOf(string name) =>
        name.Length > _before.Length + _after.Length
        && name.StartsWith(_before, StringComparison.Ordinal)
        && name.EndsWith(_after, StringComparison.Ordinal)
            ? name[_before.Length..^_after.Length]
            : null;
}
