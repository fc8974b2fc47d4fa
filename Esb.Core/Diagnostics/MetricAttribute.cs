namespace Esb.Core.Diagnostics;

/// <summary>Declares the instrument of a metric.</summary>
/// <param name="kind">The kind of its instrument.</param>
/// <param name="unit">The unit, by UCUM; null for a number without one.</param>
/// <param name="description">What is measured, as a sentence.</param>
/// <param name="tags">The attributes of its measurements; some are missing where they do not apply.</param>
[AttributeUsage(AttributeTargets.Field)]
public sealed class MetricAttribute(MetricKind kind, string? unit, string description, params string[] tags) : Attribute
{
    /// <summary>The kind of its instrument.</summary>
    public MetricKind Kind => kind;

    /// <summary>The unit, by UCUM; null for a number without one.</summary>
    public string? Unit => unit;

    /// <summary>What is measured, as a sentence.</summary>
    public string Description => description;

    /// <summary>The attributes of its measurements.</summary>
    public IReadOnlyList<string> Tags => tags;
}
