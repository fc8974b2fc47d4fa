using System.Text;
using Esb.Core.Messages;

namespace Esb.Core.Storage;

/// <summary>The key by which messages wait in a line.</summary>
public static class LineKey
{
    /// <summary>The key of a message as stores keep it: characters that a database text cannot hold are replaced. Messages without a key
    /// share the line of the empty key.</summary>
    public static string Of(EsbMessage message)
    {
        var key = message.Key;
        if (string.IsNullOrEmpty(key))
            return "";
        return key.Any(c => c == '\0' || char.IsSurrogate(c))
            ? Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(key)).Replace('\0', '\uFFFD')
            : key;
    }
}
