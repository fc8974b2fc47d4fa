using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Content.Splitting;

/// <summary>Divides bodies into items (pattern: Splitter). Immutable and thread-safe.</summary>
public interface IMessageSplitter
{
    /// <summary>True if bodies that are not in memory, but can be opened again (<see cref="MessageBody.CanReopen"/>), are divided with an
    /// item in memory at a time.</summary>
    bool CanStream { get; }

    /// <summary>The items of a buffered body, in their order, each made when it is asked for; of a body that can be opened again where
    /// <see cref="CanStream"/>.</summary>
    /// <exception cref="EsbException">The body cannot be divided from here on.</exception>
    IEnumerable<SplitItem> Split(MessageBody body);
}

/// <summary>An item of a body.</summary>
/// <param name="Body">Its content; the text as it was written if it has a fault.</param>
/// <param name="ContentType">The media type of the content.</param>
public readonly record struct SplitItem(MessageBody Body, string ContentType)
{
    /// <summary>The line at which it begins, from 1; 0 if unknown.</summary>
    public int Line { get; init; }

    /// <summary>The reason why it cannot be read; null if it was.</summary>
    public EsbException? Fault { get; init; }

    /// <summary>Properties beside those that every item has.</summary>
    public IReadOnlyList<KeyValuePair<string, string>> Properties { get; init; } = [];
}
