namespace Esb.Storage.Evidence;

/// <summary>A fact that searches do not find by what it has, or find by what it does not have.</summary>
internal sealed record FieldFlaw
{
    public Guid Fact { get; init; }

    /// <summary>Whether searches miss it.</summary>
    public bool IsMissed { get; init; }

    /// <summary>How many such facts the day has.</summary>
    public long Total { get; init; }
}
