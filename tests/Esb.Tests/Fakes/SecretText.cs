using System.Text;
using Esb.Core.Storage;

namespace Esb.Tests.Fakes;

/// <summary>Writes files that only their owner can read, whatever the umask of the machine is.</summary>
internal static class SecretText
{
    public static void Write(string path, string text) => Write(path, Encoding.UTF8.GetBytes(text));

    public static void Write(string path, byte[] bytes)
    {
        File.Delete(path); // an existing file would keep its mode
        OwnerFile.Write(path, bytes);
    }
}
