using System.Text;
using Esb.Core.Messages;

namespace Esb.Core.Storage;

/// <summary>The key by which messages wait in line.</summary>
public static class LineKey
{
    /// <summary>The key of a message as stores keep it: what no text of a database can hold is replaced. Messages without a key are one line, that of the empty key.</summary>
    public static string Of(EsbMessage message)
    {
        var key = message.Key;
        if (string.IsNullOrEmpty(key)) return "";
        return key.Any(c => c == '\0' || char.IsSurrogate(c)) ? Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(key)).Replace('\0', '\uFFFD') : key;
    }
}
