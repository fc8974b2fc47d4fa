namespace SideBySide.Measuring;

/// <summary>One side of a comparison: something that can be put under load, again and again.</summary>
internal interface ITarget
{
    /// <summary>As it stands in tables: "nginx", "Camel", "relay".</summary>
    string Name { get; }

    /// <summary>What a reader must know to judge the figures: durability, confirms, prefetch, ack mode, collector, audit.</summary>
    string Settings { get; }

    /// <summary>What is warm after the warm-up of this side: other sides that run the same code in the same process name the same. Null for a program that is new in each round.</summary>
    string? WarmKey => Name;

    /// <summary>Looks at the first answer before anything is measured. Returns what is wrong with it, or null.</summary>
    /// <exception cref="NotRunException">There was no answer.</exception>
    Task<string?> CheckAsync(CancellationToken cancellationToken);

    /// <summary>Full load for a while.</summary>
    Task<Sample> MeasureAsync(TimeSpan duration, CancellationToken cancellationToken);
}
