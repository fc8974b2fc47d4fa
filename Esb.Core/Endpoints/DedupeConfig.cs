using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;

namespace Esb.Core.Endpoints;

/// <summary>Settings of an inbound endpoint, or of the step <c>dedupe</c>, that lets each message pass once.</summary>
public sealed record DedupeConfig : SettingsRecord
{
    /// <summary>The value by which two messages count as the same.</summary>
    [Setting("The value by which two messages count as the same; a message without the value always passes.")]
    public required ValueConfig Key { get; init; }

    /// <summary>Time for which a message is remembered, from its end.</summary>
    [Setting("How long a message is remembered.", Range = "1s..365d")]
    public TimeSpan For { get; init; } = TimeSpan.FromDays(7);

    /// <summary>What a repetition means.</summary>
    [Setting("What a repetition means: it is accepted as the first was, without the steps behind; or it is refused.")]
    public DuplicateMeaning OnDuplicate { get; init; }
}

/// <summary>Meanings of a repetition.</summary>
public enum DuplicateMeaning
{
    /// <summary>It is accepted, and does nothing.</summary>
    Accept,

    /// <summary>It is refused.</summary>
    Refuse,
}
