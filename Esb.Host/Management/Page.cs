namespace Esb.Host.Management;

/// <summary>A page of a list.</summary>
/// <param name="Items">The items, in list order.</param>
/// <param name="Next">The value of <c>after</c> for the next page; null at the end.</param>
internal sealed record Page<T>(IReadOnlyList<T> Items, string? Next = null);
