namespace Esb.Content.Json.Scanning;

/// <summary>What is asked of the values at which a path arrives: the first that is there. Immutable once it has its place.</summary>
/// <param name="tail">What is left of the path; null where the pass follows all of it.</param>
/// <param name="wantsText">Whether an object or array is wanted as its text; otherwise that it is there is enough, which its first byte
/// tells.</param>
/// <param name="isSingular">Whether the pass arrives once at most.</param>
internal sealed class JsonQuestion(JsonTail? tail, bool wantsText, bool isSingular)
{
    /// <summary>Its place among the answers of a scan.</summary>
    public int Index { get; set; } = -1;

    public JsonTail? Tail => tail;

    public bool WantsText => wantsText;

    public bool IsSingular => isSingular;
}
