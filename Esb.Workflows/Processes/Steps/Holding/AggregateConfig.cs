using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Workflows.Processes.Steps.Holding;

/// <summary>What happens to a group whose time is over.</summary>
internal enum GroupTimeout
{
    /// <summary>It continues as it is.</summary>
    Release,

    /// <summary>It becomes a dead letter.</summary>
    DeadLetter,
}

/// <summary>When a group is complete.</summary>
internal sealed record GroupUntilConfig : SettingsRecord
{
    [Setting("After this many messages: a number, or where the message that comes has it.")]
    public ValueConfig? Count { get; init; }

    [Setting("When no message came for this time.", Range = "1s..365d")]
    public TimeSpan? Idle { get; init; }

    [Setting("This time after the first message; 24h where neither idle nor within is given.", Range = "1s..365d")]
    public TimeSpan? Within { get; init; }

    [Setting("When this holds for the message that comes.")]
    public ConditionConfig? If { get; init; }
}

/// <summary>What the messages of a group become.</summary>
[ExactlyOne("form", "map")]
internal sealed record GroupFormConfig : SettingsRecord
{
    [Setting("array, xml, or a format.", Main = true)]
    public string? Form { get; init; }

    [Setting("A map for JSON, whose input is the array.", Reference = "maps")]
    public string? Map { get; init; }
}

/// <summary>Settings of the step <c>aggregate</c>.</summary>
internal sealed record AggregateConfig : SettingsRecord
{
    [Setting("What the messages of a group have in common; without it all messages belong together.")]
    public ValueConfig? Key { get; init; }

    [Setting("When the group is complete.")]
    public required GroupUntilConfig Until { get; init; }

    [Setting(
        "What becomes the body: array, a JSON array in which other bodies are texts; xml, the documents in a root element messages; "
            + "a format; or what a map makes of the array."
    )]
    public GroupFormConfig As { get; init; } = new() { Form = GroupBody.Array };

    [Setting("What happens to a group whose time is over.")]
    public GroupTimeout OnTimeout { get; init; }

    [Setting("The number of messages at which a group is released as it is.", Range = "1..100000")]
    public int MaxItems { get; init; } = 10_000;

    [Setting("The size of all bodies at which a group is released as it is.", Range = "1KiB..256MiB")]
    public Esb.Core.Configuration.ByteSize MaxSize { get; init; } = new(64 * 1024 * 1024);
}

/// <summary>What happens to a group later.</summary>
/// <param name="Settings">The step.</param>
/// <param name="Body">Makes the body.</param>
internal sealed record AggregateFlow(AggregateConfig Settings, GroupBody Body) : StepFlow;
