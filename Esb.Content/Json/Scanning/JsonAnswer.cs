using Esb.Content.Json.Paths;
using Esb.Core.Errors;

namespace Esb.Content.Json.Scanning;

/// <summary>What a scan knows so far about a question; where its document has ended, that is all there is to know.</summary>
internal struct JsonAnswer
{
    /// <summary>The value, as conditions compare it; null for none.</summary>
    public object? Value;

    /// <summary>Why the value can be told to nobody, although the document is sound JSON.</summary>
    public EsbException? Fault;

    /// <summary>What the evaluations behind the pass have taken so far; null before the first.</summary>
    public JsonTime? Time;

    /// <summary>Whether nothing that follows can change it.</summary>
    public bool IsDecided;
}
