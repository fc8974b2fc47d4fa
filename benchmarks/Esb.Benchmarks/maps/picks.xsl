<!-- Trades by symbol, with their sums: what a map does that reads where it likes. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:s="http://services.samples/xsd" exclude-result-prefixes="s">
  <xsl:output method="xml" encoding="utf-8"/>
  <xsl:key name="by-symbol" match="order" use="symbol"/>
  <xsl:template match="/">
    <trades count="{count(//order)}">
      <xsl:for-each select="//s:buyStocks/order">
        <trade symbol="{symbol}" buyer="{buyerID}"><value><xsl:value-of select="price * volume"/></value></trade>
      </xsl:for-each>
      <sum of="IBM"><xsl:value-of select="sum(key('by-symbol', 'IBM')/volume)"/></sum>
    </trades>
  </xsl:template>
</xsl:stylesheet>
