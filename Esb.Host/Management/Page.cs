namespace Esb.Host.Management;

/// <summary>A part of a list.</summary>
/// <param name="Items">In their order.</param>
/// <param name="Next">What <c>before</c> has to be for the next part; null at the end.</param>
internal sealed record Page<T>(IReadOnlyList<T> Items, string? Next = null);
