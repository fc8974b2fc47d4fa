using System.Runtime.ExceptionServices;
using System.Xml.Xsl;
using Esb.Content.Xml;

namespace Esb.Content.Transforms;

/// <summary>Compiles XSLT 1.0 to code.</summary>
internal static class XsltCompiler
{
    // the compiler recurses with the stylesheet: some thousand branches of one choose end the process on a usual stack
    private const int StackBytes = 256 << 20;

    /// <exception cref="MapFileException">The stylesheet has an error.</exception>
    public static XslCompiledTransform Compile(StylesheetFiles files)
    {
        foreach (var document in files.Documents)
        {
            StylesheetRules.Check(document);
            RecursionGuard.Protect(document);
        }

        return OnLargeStack(() => Load(files));
    }

    private static XslCompiledTransform Load(StylesheetFiles files)
    {
        try
        {
            var transform = new XslCompiledTransform();
            using var reader = files.Main.CreateReader();
            transform.Load(reader, new XsltSettings(enableDocumentFunction: false, enableScript: false), files);
            return transform;
        }
        catch (XsltException ex)
        {
            throw new MapFileException("ESB-XSL-COMPILE", XmlFaults.Cause(ex.Message), ex.SourceUri, ex.LineNumber, ex.LinePosition);
        }
    }

    private static XslCompiledTransform OnLargeStack(Func<XslCompiledTransform> compile)
    {
        XslCompiledTransform? result = null;
        ExceptionDispatchInfo? failure = null;
        var thread = new Thread(Run, StackBytes) { IsBackground = true, Name = "stylesheet compiler" };
        thread.Start();
        thread.Join(); // a configuration is compiled by one thread, which has nothing else to do
        failure?.Throw();
        return result!;

        void Run()
        {
            try
            {
                result = compile();
            }
            catch (Exception ex) // rethrown in the starting thread
            {
                failure = ExceptionDispatchInfo.Capture(ex);
            }
        }
    }
}
