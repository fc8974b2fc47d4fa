using Esb.Content.Json.Paths;
using Esb.Core.Errors;

namespace Esb.Content.Json.Scanning;

/// <summary>The state of a question during a scan; final once the document has ended.</summary>
internal struct JsonAnswer
{
    /// <summary>The value, in the form that conditions compare; null for none.</summary>
    public object? Value;

    /// <summary>The error that prevents returning the value, although the document is valid JSON.</summary>
    public EsbException? Fault;

    /// <summary>The time used so far by evaluations behind the pass; null before the first.</summary>
    public JsonTime? Time;

    /// <summary>True if no further input can change the answer.</summary>
    public bool IsDecided;
}
